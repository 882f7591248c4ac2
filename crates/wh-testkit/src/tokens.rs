//! What a text costs in a model's context window.

/// Counts tokens of o200k, the vocabulary of OpenAI's newer models. Others differ by a tenth or so; the bounds in our tests and
/// benchmarks are in this one.
pub fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton()
        .encode_ordinary(text)
        .len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_known_counts() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert_eq!(
            count("<|endoftext|>"),
            7,
            "words of a text are not commands"
        );
    }
}
