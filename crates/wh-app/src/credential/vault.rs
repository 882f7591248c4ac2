//! Encrypts tokens for the database with a key that is not in it.
//!
//! The key is a file of the data directory that only the server's user can read. A copy of the database alone, such as
//! a backup, gives nothing away.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use wh_domain::{HostCredential, SealedCredential, SecretText};

/// The name of the key file in the data directory.
const FILE: &str = "credentials.key";

/// Bytes of a key.
const KEY_LEN: usize = 32;

/// Why a token cannot be encrypted or decrypted.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("the key file {path} cannot be used")]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the key file {path} can be read by others; run `chmod 600` on it")]
    Mode { path: PathBuf },
    #[error("the key file {path} does not hold a key")]
    Key { path: PathBuf },
    #[error("the stored token was encrypted with another key")]
    Sealed,
    #[error("the operating system provides no random numbers")]
    Randomness,
}

/// Encrypts with the key of a data directory.
pub(super) struct Vault {
    path: PathBuf,
}

impl Vault {
    /// Names the key file; it is created when the first token is encrypted.
    pub(super) fn in_dir(data_dir: &Path) -> Self {
        Self {
            path: data_dir.join(FILE),
        }
    }

    /// Encrypts a token for exactly this credential: nonce, then the token with its tag.
    pub(super) fn seal(
        &self,
        credential: &HostCredential,
        token: &SecretText,
    ) -> Result<Vec<u8>, VaultError> {
        let key = self.key_or_new()?;
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| VaultError::Randomness)?;
        let mut text = token.expose().as_bytes().to_vec();
        let bound = Aad::from(bound_to(credential));
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound, &mut text)
            .map_err(|_| VaultError::Sealed)?;
        Ok([nonce.as_slice(), &text].concat())
    }

    /// Decrypts the token of a credential.
    pub(super) fn open(&self, sealed: &SealedCredential) -> Result<SecretText, VaultError> {
        let key = self.read()?;
        let (nonce, text) = sealed
            .sealed
            .split_first_chunk::<NONCE_LEN>()
            .ok_or(VaultError::Sealed)?;
        let mut text = text.to_vec();
        let bound = Aad::from(bound_to(&sealed.credential));
        let opened = key
            .open_in_place(Nonce::assume_unique_for_key(*nonce), bound, &mut text)
            .map_err(|_| VaultError::Sealed)?;
        let token = String::from_utf8(opened.to_vec()).map_err(|_| VaultError::Sealed)?;
        Ok(SecretText::new(token))
    }

    fn key_or_new(&self) -> Result<LessSafeKey, VaultError> {
        match self.read() {
            Err(VaultError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                self.create()?;
                self.read()
            }
            other => other,
        }
    }

    fn read(&self) -> Result<LessSafeKey, VaultError> {
        let mut file = self.io(fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc_nofollow())
            .open(&self.path))?;
        let about = self.io(file.metadata())?;
        if about.mode() & 0o077 != 0 {
            let path = self.path.clone();
            return Err(VaultError::Mode { path });
        }
        let mut bytes = Vec::new();
        let mut bounded = Read::by_ref(&mut file).take(KEY_LEN as u64 + 1);
        self.io(bounded.read_to_end(&mut bytes))?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| VaultError::Key {
            path: self.path.clone(),
        })?;
        Ok(LessSafeKey::new(key))
    }

    /// Writes a new key; the file appears whole, and one that appeared meanwhile is kept.
    fn create(&self) -> Result<(), VaultError> {
        let mut key = [0; KEY_LEN];
        getrandom::fill(&mut key).map_err(|_| VaultError::Randomness)?;
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        let written = (|| {
            fs::create_dir_all(dir)?;
            // Temporary files are created with mode 0600.
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            file.write_all(&key)?;
            file.as_file().sync_all()?;
            match file.persist_noclobber(&self.path) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                    Err(error.error)
                }
                _ => File::open(dir)?.sync_all(),
            }
        })();
        self.io(written)
    }

    fn io<T>(&self, result: io::Result<T>) -> Result<T, VaultError> {
        result.map_err(|source| VaultError::File {
            path: self.path.clone(),
            source,
        })
    }
}

/// A link in the key file's place is not followed.
fn libc_nofollow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// Returns what a token is bound to: moved to another host, user or use, it is not decrypted.
fn bound_to(credential: &HostCredential) -> String {
    format!(
        "{}\n{}\n{}\n{}\n{}",
        credential.id,
        credential.user,
        credential.host,
        credential.username,
        credential.usable_by.as_str()
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use jiff::Timestamp;
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;
    use wh_domain::{CredentialId, CredentialUse, GitHost, UserId};

    use super::*;

    fn credential(host: &str) -> HostCredential {
        HostCredential {
            id: CredentialId::from_untyped_uuid(Uuid::from_u128(1)),
            user: UserId::from_untyped_uuid(Uuid::from_u128(2)),
            host: GitHost::parse(host).unwrap(),
            username: "git".to_owned(),
            usable_by: CredentialUse::Own,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn token() -> SecretText {
        SecretText::new("canary-token".to_owned())
    }

    fn contains(bytes: &[u8], part: &[u8]) -> bool {
        bytes.windows(part.len()).any(|it| it == part)
    }

    #[test]
    fn a_token_is_opened_for_what_it_was_sealed_for_alone() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::in_dir(dir.path());
        let credential = credential("git.example");
        let sealed = vault.seal(&credential, &token()).unwrap();
        assert!(!contains(&sealed, b"canary"));
        let again = vault.seal(&credential, &token()).unwrap();
        assert_ne!(sealed, again, "each has a nonce of its own");
        let open = |credential: &HostCredential, sealed: &[u8]| {
            let (credential, sealed) = (credential.clone(), sealed.to_vec());
            vault.open(&SealedCredential { credential, sealed })
        };
        assert_eq!(open(&credential, &sealed).unwrap(), token());
        let other = |change: fn(&mut HostCredential)| {
            let mut other = credential.clone();
            change(&mut other);
            open(&other, &sealed)
        };
        for moved in [
            other(|it| it.host = GitHost::parse("evil.example").unwrap()),
            other(|it| it.user = UserId::from_untyped_uuid(Uuid::from_u128(3))),
            other(|it| it.usable_by = CredentialUse::Everyone),
            other(|it| it.username = "other".to_owned()),
            open(&credential, &sealed[..20]),
            open(&credential, b"short"),
        ] {
            assert!(matches!(moved, Err(VaultError::Sealed)), "{moved:?}");
        }
    }

    #[test]
    fn the_key_is_for_the_servers_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::in_dir(dir.path());
        let sealed = vault.seal(&credential("h"), &token()).unwrap();
        let sealed = SealedCredential {
            credential: credential("h"),
            sealed,
        };
        let file = dir.path().join(FILE);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = vault.open(&sealed);
        assert!(matches!(refused, Err(VaultError::Mode { .. })));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        vault.open(&sealed).unwrap();
        fs::write(&file, "not a key").unwrap();
        assert!(matches!(vault.open(&sealed), Err(VaultError::Key { .. })));
        fs::remove_file(&file).unwrap();
        assert!(matches!(vault.open(&sealed), Err(VaultError::File { .. })));
        vault.seal(&credential("h"), &token()).unwrap();
        assert!(matches!(vault.open(&sealed), Err(VaultError::Sealed)));
    }
}
