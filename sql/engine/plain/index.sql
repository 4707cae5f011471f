-- Idempotent: the segments of the keyword index, impact-ordered postings (Anh & Moffat, 2006): for each term the chunks
-- that hold it, those of about the same impact together, so that a search reads what counts most first.
create table if not exists lexichord_data.posting (
    segment   integer not null,
    term_id   integer not null,
    impact    real not null,       -- rounded to a sixteenth; at most k1 + 1
    amount    smallint not null,   -- of chunks
    chunk_ids bigint[] not null
) with (toast_tuple_target = 8160);
create index if not exists posting_term on lexichord_data.posting (term_id, impact desc);
