-- By a hash of the id: spread over all documents, and the same ones each time.
create or replace function lexichord.sample_queries(amount integer default 50) returns setof text
language plpgsql stable rows 50 set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
begin
    return query select q.text from query q where q.text ~ '\S' group by q.text order by max(q.id) desc limit amount;
    if not found then
        return query
        select distinct coalesce(nullif(s.heading, ''), substring(s.content from '^.{1,200}?(?:[.?!](?=\s)|\n|$)'), left(s.content, 200))
        from (select c.heading, btrim(c.content, E' \t\r\n') as content from chunk c where c.content ~ '\S' order by hashint8(c.id), c.id limit amount) as s;
    end if;
end $$;
comment on function lexichord.sample_queries(integer) is
'Queries to try a change with: the latest recorded ones whose text was kept, else headings or first sentences of stored chunks.';
