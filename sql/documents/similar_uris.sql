-- Of the file's name, without its ending, for most uris begin and end alike. A document is looked at if its uri has three
-- letters on end of that: the likeness of each of a million names would take a minute.
create or replace function lexichord.similar_uris(reference text, datasets text[] default null, most integer default 5)
returns table (document_id bigint, uri text, likeness double precision)
language sql stable set search_path = pg_catalog, lexichord_data, pg_temp set standard_conforming_strings = on as $$
    with wanted as materialized (
        select w.stem, array(select distinct '%' || substr(w.stem, at, 3) || '%' from generate_series(1, greatest(length(w.stem) - 2, 1)) as at) as parts
        from (select lower(substring(left(reference, 200) from '([^/]+?)(\.[^./]*)?/*$')) as stem) as w
    ), near as materialized (
        select d.id, d.uri, lexichord.name_likeness(w.stem, substring(d.uri from '([^/]+?)(\.[^./]*)?/*$')) as likeness
        from wanted w, lateral (
            select d.id, d.uri from document d
            where d.uri ilike any(w.parts) and (similar_uris.datasets is null or d.dataset_id in (
                select s.id from dataset s where s.name = any(similar_uris.datasets)))
            limit 10000) as d
    )
    select n.id, n.uri, n.likeness from near n where n.likeness > 0
    order by n.likeness desc, lexichord.name_likeness(reference, n.uri) desc, n.uri collate "C", n.id limit most
$$;
comment on function lexichord.similar_uris(text, text[], integer) is
'The documents whose files'' names are most like that of a reference which names none. Readers may call it.';
