-- Two sources: documents whose chunks are hit, and documents whose card is. The best by card bring their own
-- chunks along, so that their chunk score is known although none of them is in the global lists.
-- A list of cards shorter than the depth goes on with zeros, as fuse_terms' keyword list does: the clearer a name, the
-- stronger (a policy's name as hint: first hit in that policy 92 -> 100 %).
-- Both sources count alike: of questions that name no document, on 24 kinds, .9 for the card found the right file first in
-- 33 to 99 %, .5 in 48 to 100, more on 20 of them and less on one (docs/log). A hint, made of names, takes .9.
create or replace function lexichord.discover_files(
    query text, query_vector @extschema:vector@.halfvec default null, k integer default lexichord.default_k(), depth integer default lexichord.default_depth(),
    datasets text[] default null, documents bigint[] default null, uri_prefix text default null, filter jsonb default null,
    aggregate text default 'max', file_weights double precision[] default '{0.5,0.5}',
    fusion text default lexichord.default_fusion(), weights double precision[] default lexichord.default_weights(), query_space text default null,
    candidates lexichord.candidate[] default null, question_terms jsonb default null
) returns table (
    document_id bigint, dataset text, uri text, title text, score double precision,
    card_score double precision, chunk_score double precision, hits bigint)
language plpgsql stable rows 10
set search_path = pg_catalog, lexichord_data, pg_temp
-- A custom plan looks cheaper each time, and costs a planning each time.
set plan_cache_mode = force_generic_plan as $$
declare
    is_checked constant boolean := lexichord.check_search(query, query_vector, query_space, k, depth, fusion, weights);
    scope bigint[];
    lexemes tsvector;
    room bigint;
begin
    if aggregate is null or aggregate not in ('max', 'mean', 'sum') then
        raise exception 'aggregate must be max, mean or sum' using errcode = 'invalid_parameter_value';
    elsif not lexichord.are_weights(file_weights) then
        raise exception 'file_weights must be two numbers, {card,chunks}, not negative and not both 0'
            using errcode = 'invalid_parameter_value';
    end if;
    scope := lexichord.scope_documents(datasets, documents, uri_prefix, filter);
    lexemes := coalesce(lexichord.weighted_terms(question_terms), lexichord.query_lexemes(query, scope));
    room := least(depth, coalesce(cardinality(scope), (select count(*) from (select from document limit depth) as d)));
    return query
    with card as materialized (
        select c.* from lexichord.card_term_candidates(lexemes, depth, scope) as c
    ), own as (
        select jsonb_object_agg(c.document_id, 0) as boost from card c where c.rank <= 3
    ), chunks as (
        select f.document_id, count(*) as hits,
               case aggregate when 'max' then max(f.score) when 'mean' then avg(f.score) else sum(f.score) end as score
        from own, lexichord.fuse_terms(lexemes, query_vector, depth, scope, fusion, weights, own.boost, discover_files.candidates) as f
        group by f.document_id
    ), card_scale as (
        select avg(c.score) as mean, nullif(stddev_pop(c.score), 0) as spread, min(c.score) as lowest
        from (select k.score from card k union all select 0 from generate_series(1, room - (select count(*) from card))) as c
    ), chunk_scale as (
        select avg(h.score) as mean, nullif(stddev_pop(h.score), 0) as spread, min(h.score) as lowest from chunks h
    ), best as materialized (
        select coalesce(c.document_id, h.document_id) as document_id,
               file_weights[1] * coalesce((coalesce(c.score, a.lowest) - a.mean) / a.spread, 0)
               + file_weights[2] * coalesce((coalesce(h.score, b.lowest) - b.mean) / b.spread, 0) as score,
               c.score as card_score, h.score as chunk_score, coalesce(h.hits, 0) as hits
        from (card c full join chunks h on h.document_id = c.document_id), card_scale a, chunk_scale b
        order by 2 desc, 1
        limit k
    )
    select d.id, s.name, d.uri, d.title, b.score, b.card_score, b.chunk_score, b.hits
    from best b join document d on d.id = b.document_id join dataset s on s.id = d.dataset_id
    order by b.score desc, b.document_id;
end $$;
comment on function lexichord.discover_files(text, @extschema:vector@.halfvec, integer, integer, text[], bigint[], text, jsonb, text, double precision[], text, double precision[], text, lexichord.candidate[], jsonb) is
'The k documents that a query is about: chunk hits aggregated by document (max, mean or sum) and the match of the document''s card, both on the scale of their own list, weighed by file_weights = {card,chunks}. hits = chunks among the candidates. candidates = what propose_candidates gave for the same question in the same scope, question_terms = their terms. Readers may call it.';
