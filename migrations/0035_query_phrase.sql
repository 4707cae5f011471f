-- Where the phrase stands that a reader marked in the answer: uri, char_start, char_end.
alter table lexichord_data.query add column phrase jsonb;
