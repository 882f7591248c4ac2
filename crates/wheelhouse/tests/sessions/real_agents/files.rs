//! Files that come with a prompt reach the agent's model.

use wh_api::{PromptFileInput, SessionPromptRequest};

use super::{place::Place, story::nothing_unexpected};
use crate::harness::prompt_of;

/// What only the text file says.
const NOTE: &str = "the heron of 4711 is blue";
/// What only the file that is neither text nor image is called.
const DATA: &str = "measured.bin";
/// An image of one dot, in base64 and as it is.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The model is given the text and the image themselves, and of anything else a path that the agent can read.
pub(super) async fn reach_the_model(place: Place) {
    let image = PromptFileInput {
        name: "dot.png".to_owned(),
        data: DOT.to_owned(),
    };
    let request = SessionPromptRequest {
        files: vec![
            PromptFileInput::new("note.txt", NOTE.as_bytes()),
            image,
            PromptFileInput::new(DATA, &[0, 1, 2, 0xff]),
        ],
        wait: Some(place.world.patience),
        ..prompt_of(&place.session, "REMEMBER heron")
    };
    let prompted = place.world.client.session_prompt(&request).await.unwrap();
    let notes = place.world.notes(&place.session).await;
    assert_eq!(prompted.turn.state, "completed", "{prompted:#?}\n{notes}");
    let given = place
        .model
        .requests()
        .into_iter()
        .map(|it| it.body.to_string());
    let given: Vec<_> = given
        .filter(|body| body.contains("REMEMBER heron"))
        .collect();
    let is_given = |what: &str| given.iter().any(|body| body.contains(what));
    assert!(is_given(NOTE), "the text is missing");
    assert!(is_given(DOT), "the image is missing");
    assert!(is_given(DATA), "the path is missing");
    nothing_unexpected(&place).await;
}
