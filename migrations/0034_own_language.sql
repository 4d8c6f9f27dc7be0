-- The language that the admins of a chat chose for what the bot says of itself, as an ISO 639-3 code. NULL: that of the chat's
-- messages, `language`, in which its words are stemmed whatever was chosen.
ALTER TABLE chat ADD COLUMN own_language TEXT;
