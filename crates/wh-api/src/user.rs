//! Users.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{InputRefusal, NewUser, Reference, ShortId, User, UserName, UserPatch, UserRole};

use crate::common::{field, list_request, optional_reference, reference, time};

/// A user to make.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserCreateRequest {
    /// The name to sign in under: letters, digits and . _ - @ +
    pub name: String,
    /// admin or member; member unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    /// A mark of your choice: a repeat with the same mark makes no second user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// The most bytes of an email address or an avatar's address.
const CONTACT_BYTES_MAX: usize = 500;

impl TryFrom<UserCreateRequest> for NewUser {
    type Error = InputRefusal;

    fn try_from(request: UserCreateRequest) -> Result<Self, InputRefusal> {
        let role = match request.role.as_deref() {
            None => UserRole::Member,
            Some(text) => role_of(text)?,
        };
        Ok(Self {
            name: field("name", UserName::parse(&request.name))?,
            role,
            email: contact("email", request.email)?,
            avatar_url: contact("avatar_url", request.avatar_url)?,
        })
    }
}

fn role_of(text: &str) -> Result<UserRole, InputRefusal> {
    UserRole::parse(text).ok_or_else(|| InputRefusal::new("role", "must be admin or member"))
}

fn contact(name: &str, text: Option<String>) -> Result<Option<String>, InputRefusal> {
    match text {
        Some(text) if text.len() > CONTACT_BYTES_MAX || text.chars().any(char::is_control) => {
            let problem = format!("must be one line of at most {CONTACT_BYTES_MAX} bytes");
            Err(InputRefusal::new(name, problem))
        }
        text => Ok(text),
    }
}

/// Reads a list of directories, no longer than what a user may have.
fn paths(name: &str, texts: Vec<String>) -> Result<Vec<PathBuf>, InputRefusal> {
    if texts.len() > User::LOCAL_ROOTS_MAX {
        let problem = format!("must name at most {} directories", User::LOCAL_ROOTS_MAX);
        return Err(InputRefusal::new(name, problem));
    }
    let is_good = |text: &String| text.starts_with('/') && !text.chars().any(char::is_control);
    match texts.iter().all(is_good) {
        true => Ok(texts.into_iter().map(PathBuf::from).collect()),
        false => Err(InputRefusal::new(name, "must be absolute paths")),
    }
}

/// A user to change; what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserUpdateRequest {
    /// The user's id or name.
    pub user: String,
    /// admin or member
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Empty takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// true: their keys and browsers open nothing, and their sessions and loops are stopped; nothing is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Directories on the server's machine that a member may use from now on, with everything below them: for `path` sessions
    /// and local repositories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_paths: Vec<String>,
    /// Directories that the user may not use any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disallow_paths: Vec<String>,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl UserUpdateRequest {
    /// Returns which user is meant.
    pub fn user(&self) -> Result<Reference, InputRefusal> {
        reference("user", &self.user)
    }

    /// Returns what is to change.
    pub fn patch(self) -> Result<UserPatch, InputRefusal> {
        let email = contact("email", self.email)?;
        let allow_paths = paths("allow_paths", self.allow_paths)?;
        let disallow_paths = paths("disallow_paths", self.disallow_paths)?;
        Ok(UserPatch {
            allow_paths,
            disallow_paths,
            role: self.role.as_deref().map(role_of).transpose()?,
            email: email.map(|email| Some(email).filter(|email| !email.is_empty())),
            disabled: self.disabled,
        })
    }
}

/// Names a user.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserGetRequest {
    /// The user's id or name; you unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl UserGetRequest {
    /// Returns which user is meant.
    pub fn user(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("user", self.user.as_deref())
    }
}

list_request! {
    /// Which users to list.
    UserListRequest {}
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserView {
    pub id: String,
    pub short_id: String,
    pub name: String,
    /// admin or member
    pub role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    pub created_at: String,
    /// Since when they are not let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<String>,
    /// Directories on the server's machine that this user may use for `path` sessions and local repositories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_roots: Vec<String>,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id.to_string(),
            short_id: user.id.short_id(),
            name: user.name.to_string(),
            role: user.role.as_str().to_owned(),
            email: user.email,
            avatar_url: user.avatar_url,
            created_at: time(user.created_at),
            disabled_at: user.disabled_at.map(time),
            local_roots: user
                .local_roots
                .iter()
                .map(|root| root.display().to_string())
                .collect(),
        }
    }
}

/// Some users, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UserListView {
    pub users: Vec<UserView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
