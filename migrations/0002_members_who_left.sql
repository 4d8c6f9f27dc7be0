-- 1 if the member left or was removed and has written nothing since.
ALTER TABLE member ADD COLUMN has_left INTEGER NOT NULL DEFAULT 0;

-- Refusals of tools are no longer kept over a restart.
DROP TABLE IF EXISTS tool_refusal;
