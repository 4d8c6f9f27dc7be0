-- An answer that is forgotten before it is out is made anew. So the words of a member who opted out are held until the
-- reply to them is out, and not only until it is written.
DROP TRIGGER held_text_goes_with_its_job;
-- However the jobs end, the words go in the same transaction.
CREATE TRIGGER held_text_goes_with_its_jobs AFTER UPDATE OF state ON job WHEN new.state <> 'due'
BEGIN
    DELETE FROM held_text
    WHERE key = CASE WHEN new.key LIKE 'answer:%' THEN substr(new.key, 8) ELSE new.key END
      AND NOT EXISTS (SELECT 1 FROM job
                      WHERE state = 'due' AND kind IN ('answer', 'command') AND job.key = held_text.key)
      AND NOT EXISTS (SELECT 1 FROM job
                      WHERE state = 'due' AND kind = 'send' AND job.key = 'answer:' || held_text.key);
END;
