-- Turns by when they ended, with everything a sum needs, so that the turns themselves are not read: their prompts make them large.
CREATE INDEX turns_finished ON turns (finished_at, session_id, number, used_input_tokens, used_cached_tokens,
    used_output_tokens, used_cost_micros, used_wall_seconds) WHERE finished_at IS NOT NULL;
