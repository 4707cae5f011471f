-- Idempotent: the segments of the keyword index, impact-ordered postings (Anh & Moffat, 2006): for each term the chunks
-- that hold it, those of about the same impact together, so that a search reads what counts most first.
create table if not exists lexichord_data.posting (
    segment   integer not null,
    term_id   integer not null,
    impact    real not null,       -- rounded to a sixteenth; at most k1 + 1
    amount    smallint not null,   -- of chunks
    chunk_ids bigint[] not null
) with (toast_tuple_target = 8160);
alter table lexichord_data.posting add column if not exists id bigint generated always as identity primary key;
-- All that choosing among a term's postings needs, so that only the chosen ones are read: of a million chunks a frequent
-- word's take thousands of pages.
do $$
begin
    if (select i.indnatts from pg_index i where i.indexrelid = to_regclass('lexichord_data.posting_term')) < 5 then
        drop index lexichord_data.posting_term;
    end if;
end $$;
create index if not exists posting_term on lexichord_data.posting (term_id, impact desc) include (segment, amount, id);
