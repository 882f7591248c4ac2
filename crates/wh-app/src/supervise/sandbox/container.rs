//! The tier `container`: the environment of an agent that runs in an image.

use std::collections::BTreeMap;

use wh_runner::image::ImageConfig;

/// What the agent can read of the machine itself: programs ask here how many processors there are.
pub(super) const MACHINE: &str = "/sys/devices/system/cpu";

/// The shell, where the image names none. The server's own may not be in the image.
const SHELL: &str = "/bin/sh";

/// Adds the image's variables, and replaces those that name programs of the machine.
pub(in crate::supervise) fn add_image_environment(
    image: &ImageConfig,
    environment: &mut BTreeMap<String, String>,
) {
    let of_image = image.environment.clone().into_iter();
    let usual = [
        ("PATH".to_owned(), image.path().to_owned()),
        ("SHELL".to_owned(), SHELL.to_owned()),
    ];
    for (name, value) in of_image.chain(usual) {
        environment.entry(name).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_images_variables_do_not_replace_configured_ones() {
        let variables = [
            ("PATH", "/image/bin"),
            ("LANG", "C.UTF-8"),
            ("KEY", "image"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let image = ImageConfig {
            id: String::new(),
            environment: variables.into(),
        };
        let mut environment = BTreeMap::from([("KEY".to_owned(), "configured".to_owned())]);
        add_image_environment(&image, &mut environment);
        assert_eq!(environment["PATH"], "/image/bin");
        assert_eq!(environment["KEY"], "configured");
        assert_eq!(environment["SHELL"], SHELL);
        assert_eq!(environment["LANG"], "C.UTF-8");
    }
}
