-- A few rows may hold as much as a server has memory: who reads them takes those whose content is there, and asks for the
-- others once they are done with.
create or replace function lexichord.changed_rows(table_id integer, keys text[], recipe text, max_characters bigint default null)
returns table (key text, title text, content text, context text, sha256 text, characters bigint)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select c.key, c.title, case when c.comes then c.content end, case when c.comes then c.context end, c.sha256, c.characters
    from (select f.*, n.characters, max_characters is null or greatest(n.characters, sum(n.characters)
              filter (where n.characters <= max_characters) over (order by f.key)) <= max_characters as comes
          from lexichord.read_rows(table_id, keys) as f
          cross join lateral (select length(f.content)::bigint + coalesce(length(f.context), 0)) as n (characters)
          left join (table_row r join document d on d.id = r.document_id) on r.table_id = $1 and r.key = f.key
          where d.id is null or d.sha256 <> f.sha256 or d.recipe <> $3) as c
$$;
comment on function lexichord.changed_rows(integer, text[], text, bigint) is
'Of rows of an indexed table those that are not stored as they are by now; content and context of so many, in the order of their keys, as have so many characters together.';
