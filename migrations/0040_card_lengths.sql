-- A card's score needs its length beside each of its terms: read from the documents it took two thirds of the time, so the
-- index holds all that a score is made of (20,000 documents, a question of eleven words: 56 -> 16 ms).
-- Whoever writes documents has begun with this lock: taken before the table's, or there are deadlocks.
lock table lexichord_data.writer_lock in exclusive mode;
alter table lexichord_data.card_term add column if not exists card_length integer, drop constraint if exists card_term_pkey;
update lexichord_data.card_term c set card_length = d.card_length
from lexichord_data.document d where d.id = c.document_id and c.card_length is null;
alter table lexichord_data.card_term alter column card_length set not null,
    add constraint card_term_pkey primary key (lexeme, document_id) include (tf, card_length);
