create or replace function lexichord.held_numbers(kind text, numbers bigint[]) returns bigint[]
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select case kind
        when 'doc' then array(select d.id from document d where d.id = any(numbers))
        when 'chunk' then array(select c.id from chunk c where c.id = any(numbers)) end
$$;
comment on function lexichord.held_numbers(text, bigint[]) is
'Which of these documents (kind doc) or chunks (kind chunk) are here: what was moved between shards keeps its number. Readers may call it.';
