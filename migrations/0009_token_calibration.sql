-- How many tokens a model really counts for each that we estimate: what CONTEXT_TOKENS means for it. Learnt from what its
-- server reports; losing it costs a few answers whose windows are a little small.
CREATE TABLE token_calibration (
    model TEXT PRIMARY KEY,
    ratio REAL NOT NULL
) STRICT, WITHOUT ROWID;
