-- The best chunks in their document's order, so that they read as its text; of a document that the query does not hit,
-- its beginning. The dense channel reads every vector of so few documents.
create or replace function lexichord.file_surrogates(
    query text, query_vector @extschema:vector@.halfvec, files bigint[], chunks integer default 2, characters integer default 800,
    query_space text default null
) returns table (document_id bigint, surrogate text)
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
begin
    if query_vector is not null then
        perform lexichord.check_space(query_space);
    end if;
    return query
    with best as (
        select f.chunk_id, f.document_id, row_number() over (partition by f.document_id order by f.score desc, f.chunk_id) as place
        from (select distinct f.id from unnest(files) as f (id)) as one,
             lexichord.fuse_terms(lexichord.query_lexemes(query, files), query_vector, lexichord.default_depth(), array[one.id],
                 lexichord.default_fusion(), lexichord.default_weights()) as f
    ), joined as (
        select b.document_id, string_agg(c.content, E'\n' order by c.ordinal) as content
        from best b join chunk c on c.id = b.chunk_id
        where b.place <= chunks
        group by b.document_id
    )
    select d.id, left(concat_ws(E'\n', nullif(d.title, ''), coalesce(j.content, d.text)), characters)
    from unnest(files) with ordinality as wanted (id, place)
    join document d on d.id = wanted.id
    left join joined j on j.document_id = d.id
    order by wanted.place;
end $$;
comment on function lexichord.file_surrogates(text, @extschema:vector@.halfvec, bigint[], integer, integer, text) is
'A short text that stands for each document in the order given: its title and the chunks that a query hits best. Readers may call it.';
