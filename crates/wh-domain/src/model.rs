//! Models that agents offer, and the commands that they take.

/// The name of a model as its agent knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelName(String);

impl ModelName {
    /// The most bytes of a name.
    pub const BYTES_MAX: usize = 200;

    /// Parses a model name. It can become a program argument, so a leading hyphen is refused.
    pub fn parse(text: &str) -> Result<Self, String> {
        let max = Self::BYTES_MAX;
        if text.starts_with('-') {
            return Err("must not begin with a hyphen".to_owned());
        }
        match text.len() {
            1.. if text.len() <= max && !text.chars().any(char::is_control) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(format!("must have 1 to {max} printable bytes")),
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ModelName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A model that an agent offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedModel {
    pub id: String,
    /// For people; the id if the agent has no other name.
    pub name: String,
}

impl OfferedModel {
    /// Finds a model by its id or, if only one has it, by its name, in any case.
    pub fn find<'m>(offered: &'m [Self], wanted: &ModelName) -> Option<&'m Self> {
        let wanted = wanted.as_str();
        let is_called = |model: &&Self| {
            model.id.eq_ignore_ascii_case(wanted) || model.name.eq_ignore_ascii_case(wanted)
        };
        let mut called = offered.iter().filter(is_called);
        let only = called.next().filter(|_| called.next().is_none());
        offered.iter().find(|model| model.id == wanted).or(only)
    }
}

/// A command that an agent takes at the beginning of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// Without the slash.
    pub name: String,
    pub about: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_its_id_or_a_name_of_its_own() {
        let model = |id: &str, name: &str| OfferedModel {
            id: id.to_owned(),
            name: name.to_owned(),
        };
        let offered = [
            model("s-1", "Small"),
            model("l-1", "Large"),
            model("l-2", "Large"),
        ];
        let find = |wanted| {
            let wanted = ModelName::parse(wanted).unwrap();
            OfferedModel::find(&offered, &wanted).map(|model| model.id.as_str())
        };
        assert_eq!(find("small"), Some("s-1"));
        assert_eq!(find("L-2"), Some("l-2"));
        assert_eq!(find("Large"), None);
        assert_eq!(find("huge"), None);
    }

    #[test]
    fn names_are_short_and_printable() {
        for good in ["opus", "gpt-5.5/high", "Modell ü"] {
            assert_eq!(ModelName::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "a\nb", "a\u{0}", &"x".repeat(201)] {
            assert!(ModelName::parse(bad).is_err(), "{bad:?}");
        }
    }
}
