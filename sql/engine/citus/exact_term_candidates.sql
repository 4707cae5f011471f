create or replace function lexichord.exact_term_candidates(
    terms tsvector, depth integer default lexichord.default_depth(), documents bigint[] default null, among bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp set extra_float_digits = 1 as $$
declare
    query @extschema:vector@.sparsevec;
begin
    select ('{' || string_agg(w.term_id || ':' || w.weight::real, ',') || '}/1000000000')::@extschema:vector@.sparsevec into query
    from lexichord.keyword_weights(terms) as w;
    if query is not null then
        return query select m.chunk_id, m.document_id, row_number() over (order by m.distance, m.chunk_id), -m.distance
            from lexichord.matching_chunks(query, depth, documents, among) as m where m.distance < 0;
    end if;
end $$;
comment on function lexichord.exact_term_candidates(tsvector, integer, bigint[], bigint[]) is
'As term_candidates, by reading every chunk in scope; among = only these chunks. Internal. Readers may call it.';
