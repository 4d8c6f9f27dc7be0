-- JSON: ids of the concepts that the answer referenced, those captured from it among them. No words.
ALTER TABLE answer ADD COLUMN referenced_nodes TEXT NOT NULL DEFAULT '[]';
