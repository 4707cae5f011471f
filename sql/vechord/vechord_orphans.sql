create or replace function lexichord.vechord_orphans(namespace text, chunk_table text) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    t record;
    orphans bigint;
begin
    select * into strict t from lexichord.vechord_tables(namespace) as v where v.table_name = chunk_table;
    execute format('select count(*) from %s as c where c.%I is null', chunk_table, t.reference_column) into orphans;
    return orphans;
end $$;
comment on function lexichord.vechord_orphans(text, text) is 'How many chunks of a vechord namespace belong to no document.';
