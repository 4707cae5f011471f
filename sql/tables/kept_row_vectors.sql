-- Of the same row as it was, or of another one with the same words: known by all that is embedded.
create or replace function lexichord.kept_row_vectors(table_id integer, keys text[], sha256s text[])
returns table (text_hash text, embedding @extschema:vector@.halfvec)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
    select distinct on (1) lexichord.content_hash(case when c.context <> '' then c.context || E'\n' else '' end || c.content), c.embedding
    from chunk c
    where c.embedding is not null and c.document_id = any(array(
        select r.document_id from table_row r where r.table_id = $1 and r.key = any($2)
        union all
        select t.id from unnest($3) as s (sha256) cross join lateral (
            select d.id from document d where d.sha256 = s.sha256
                and d.dataset_id = (select s.id from dataset s join indexed_table i on i.dataset = s.name where i.id = $1) limit 1) as t))
    order by 1, c.id
$$;
comment on function lexichord.kept_row_vectors(integer, text[], text[]) is
'The vectors that the documents of these rows have, and documents of the same table with these digests, by a hash of what was embedded. Internal.';
