create or replace function lexichord.segment_proposals(segments integer[], terms tsvector, depth integer, documents bigint[]) returns bigint[]
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp
-- All end with the function. The first is set again below; without sorting, the index is the only way.
-- Never the prefilter: it reads deleted rows, too, and where a vacuum has cut off the table's end, or whatever else
-- goes wrong in it, the whole server goes down (vchord_bm25 0.3.0; no release mends it yet).
set bm25_catalog.bm25_limit = 1000 set bm25_catalog.enable_prefilter = off set bm25_catalog.enable_index = on
set enable_sort = off set jit = off as $$
declare
    vector text;
    rare bigint[];
    term_ids integer[];
    weights float8[];
    path text := current_setting('search_path');
    -- Its lengths are coarse: of 6,000 chunks, as many as asked for had no clear hit missing, twice as many none at all.
    -- Deleted chunks and those out of scope take places. So first as many as fill the depth if matches are spread evenly,
    -- and with room to spare, then more, then all (-1) if that was too little.
    places bigint := case when documents is null then 2::bigint * depth
        else 3::bigint * depth * (select n.document_count from corpus_statistics n) / greatest(cardinality(documents), 1) end;
    segment integer;
    statement text;
    own bigint[];
    living bigint[];
    proposals bigint[] := '{}';
    row_limit bigint;
begin
    select array_agg(w.term_id), array_agg(w.weight) into term_ids, weights from lexichord.keyword_weights(terms) as w;
    foreach segment in array segments loop
        -- It weighs a term by how many of the segment's chunks hold it: as often as makes lexichord's weight of that.
        execute format($terms$
            select (select '{' || string_agg(p.place || ':' || least(greatest(round(1000 * w.weight / ln((n.df + 1.0) / (p.df + 0.5))), 1), 1000000)::integer, ',' order by p.place) || '}'
                    from unnest($1, $2) as w (term_id, weight) join %1$s_term p on p.term_id = w.term_id join %1$s_term n on n.term_id = 0),
                   (select array_agg(r) from %1$s_term p, unnest(p.chunk_ids) as r where p.term_id = any($1))
            $terms$, lexichord.segment_name(segment))
        into vector, rare using term_ids, weights;
        proposals := proposals || coalesce(rare, '{}');
        continue when vector is null;
        foreach row_limit in array array[places, 8 * places, -1] loop
            continue when row_limit > 65535;
            statement := format('select pg_catalog.array_agg(p.chunk_id) from (%s) as p',
                                lexichord.segment_statement(segment, vector, nullif(row_limit, -1)));
            -- vchord_bm25 looks its own types up by the search path.
            perform set_config('bm25_catalog.bm25_limit', row_limit::text, true),
                    set_config('search_path', 'pg_catalog, @extschema:vchord_bm25@, pg_temp', true);
            execute statement into own;
            perform pg_catalog.set_config('search_path', path, true);
            living := array(select k.chunk_id from keyword k where k.chunk_id = any(own)
                            and (segment_proposals.documents is null or k.document_id = any(segment_proposals.documents)));
            exit when cardinality(living) >= depth or coalesce(cardinality(own), 0) < row_limit or row_limit = -1;
        end loop;
        proposals := proposals || living;
    end loop;
    return proposals;
end $$;
comment on function lexichord.segment_proposals(integer[], tsvector, integer, bigint[]) is
'Chunks of segments of the keyword index among which the depth best by BM25 are. Internal. Readers may call it.';
