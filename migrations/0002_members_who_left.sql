-- 1 if the member left or was removed and has written nothing since.
ALTER TABLE member ADD COLUMN has_left INTEGER NOT NULL DEFAULT 0;
