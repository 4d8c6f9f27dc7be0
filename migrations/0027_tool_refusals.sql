-- Models that take no tools, found out by asking. Losing it costs one refused request a model.
CREATE TABLE tool_refusal (
    -- The host of the server.
    server     TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    -- Unix milliseconds: when it last said so. It is offered tools again after a day.
    refused_at INTEGER NOT NULL,
    PRIMARY KEY (server, model)
) STRICT, WITHOUT ROWID;
