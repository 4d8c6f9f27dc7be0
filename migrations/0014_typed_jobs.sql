-- A job carries what it is to do, in place of a key that is parsed back. NULL once it is done.
ALTER TABLE job ADD COLUMN payload TEXT;
-- 1 while it is worked on, as far as that is known: when the process ends, only these are charged an attempt.
ALTER TABLE job ADD COLUMN started INTEGER NOT NULL DEFAULT 0;

-- About one message; the key is <chat>:<message>.
UPDATE job SET payload = json_object(kind, json_object('at', json_object(
    'chat', CAST(substr(key, 1, instr(key, ':') - 1) AS INTEGER), 'message', CAST(substr(key, instr(key, ':') + 1) AS INTEGER))))
WHERE state <> 'done' AND kind IN ('answer', 'another', 'refusal');

-- A command by its name. Its arguments are what stands behind the first word; a text that begins with no command was thanks.
WITH given AS (
    SELECT job.id, job.key, trim(coalesce(held_text.text, message.text, '')) AS text
    FROM job
    LEFT JOIN held_text ON held_text.key = job.key
    LEFT JOIN message ON message.telegram_chat_id = CAST(substr(job.key, 1, instr(job.key, ':') - 1) AS INTEGER)
                     AND message.message_id = CAST(substr(job.key, instr(job.key, ':') + 1) AS INTEGER)
    WHERE job.kind = 'command' AND job.state <> 'done'
), named AS (
    SELECT id, key, instr(text || ' ', ' ') - 1 AS length,
           lower(substr(text, 2, min(instr(text || ' ', ' '), instr(text || '@', '@')) - 2)) AS name, text LIKE '/%' AS is_command
    FROM given
)
UPDATE job SET
    kind = CASE WHEN named.is_command THEN 'command' ELSE 'thank' END,
    payload = CASE WHEN named.is_command THEN json_object('command', json_object(
            'at', json_object('chat', CAST(substr(named.key, 1, instr(named.key, ':') - 1) AS INTEGER),
                              'message', CAST(substr(named.key, instr(named.key, ':') + 1) AS INTEGER)),
            'name', CASE WHEN named.name IN ('ask', 'why', 'forget', 'optout', 'optin', 'privacy', 'claim', 'start')
                         THEN named.name ELSE 'help' END,
            'parsed', json_object('how', 'command', 'is_generic', json('false'),
                                  'cut', json_array(json_object('start', 0, 'end', named.length)))))
        ELSE json_object('thank', json_object('at', json_object(
            'chat', CAST(substr(named.key, 1, instr(named.key, ':') - 1) AS INTEGER),
            'message', CAST(substr(named.key, instr(named.key, ':') + 1) AS INTEGER)))) END
FROM named WHERE named.id = job.id;

UPDATE job SET payload = json_object('press', json_object('query', key, 'chat', lane)) WHERE state <> 'done' AND kind = 'press';
-- The answer that a reply carries is made anew by the job that the reply's key names.
UPDATE job SET payload = json_object('send', json_object('reply', key, 'chat', lane, 'made_by',
    CASE WHEN key LIKE 'answer:%' OR key LIKE 'another:%' THEN
        json_object(substr(key, 1, instr(key, ':') - 1), json_object('at', json_object(
            'chat', CAST(substr(key, instr(key, ':') + 1) AS INTEGER),
            'message', CAST(replace(ltrim(substr(key, instr(key, ':') + 1), '-0123456789'), ':', '') AS INTEGER))))
    END))
WHERE state <> 'done' AND kind = 'send';
UPDATE job SET payload = json_object(kind, json_object('chat', CAST(key AS INTEGER)))
WHERE state <> 'done' AND kind IN ('backlog', 'leave', 'announce');
UPDATE job SET payload = json_object('forget', json_object('request', CAST(key AS INTEGER), 'chat', lane))
WHERE state <> 'done' AND kind = 'forget';
UPDATE job SET payload = json_object('retention', json_object()) WHERE kind = 'retention';

-- Rows of done jobs are deleted after a while, by kind.
CREATE INDEX job_done ON job (kind, due_at) WHERE state = 'done';
