-- The IANA name of the time zone in which a chat wants times told. NULL: the one that the operator chose.
ALTER TABLE chat ADD COLUMN time_zone TEXT;
