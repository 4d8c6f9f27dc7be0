-- What the minute's and the hour's work asks for is found without reading every summary that there is.
CREATE INDEX mini_summary_extract ON mini_summary (session_id, model) WHERE method = 'extract';
CREATE INDEX mini_summary_by_time ON mini_summary (built_at);
CREATE INDEX session_unfolded ON session (chat_key, ended_at) WHERE history_included_at IS NULL;
