-- An earlier version kept what was suggested to a member who had opted out before the answer came. Frames and items go with it.
DELETE FROM follow_up
WHERE chain IN (
    SELECT taken.chain
    FROM follow_up AS taken
    JOIN answer ON answer.id = taken.answer_id
    JOIN opt_out ON opt_out.user_id = answer.asked_by AND opt_out.chat_key IN (0, answer.chat_key)
);
