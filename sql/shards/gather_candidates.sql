create or replace function lexichord.gather_candidates(
    query text, terms jsonb, query_vector @extschema:vector@.halfvec, depth integer, datasets text[], documents bigint[], uri_prefix text, filter jsonb,
    weights double precision[], boost jsonb, query_space text, out candidates lexichord.candidate[], out room bigint
)
language plpgsql stable set search_path = pg_catalog, lexichord_data, pg_temp as $$
declare
    refusal text;
    found_documents bigint;
begin
    with list as materialized (
        select * from lexichord.gather_lists(query, terms, query_vector, depth, datasets, documents, uri_prefix, filter, weights, boost, query_space)
    ), answer as (
        select l.* from list l where l.channel is null  -- one a shard
    ), ranked as (
        select l.channel, l.is_boosted, u.chunk_id, u.document_id,
               row_number() over (partition by l.channel, l.is_boosted order by u.score desc, u.chunk_id) as rank, u.score
        from list l, unnest(l.chunk_numbers, l.document_numbers, l.scores) as u (chunk_id, document_id, score)
        where l.channel is not null
    )
    select array(select row(r.*)::lexichord.candidate from ranked r where r.rank <= depth),
           (select least(depth, sum(a.room)) from answer a), (select sum(cardinality(a.own_documents)) from answer a),
           coalesce((select 'there is no dataset ' || string_agg(quote_literal(m.name), ', ')
                     from (select name from answer a, unnest(a.missing) as name group by name having count(*) = (select count(*) from answer)) as m),
                    (select min(a.problem) from answer a having bool_and(a.problem is not null)))
    into candidates, room, found_documents, refusal;
    if refusal is not null then
        raise exception '%', refusal using errcode = case when refusal like 'there is no dataset %' then 'no_data_found' else 'invalid_parameter_value' end;
    elsif found_documents < (select count(distinct d) from unnest(documents) as d) then
        raise exception 'there is no such document' using errcode = 'no_data_found';
    end if;
    perform set_config('lexichord.keys_are_known', 'off', true);  -- as it was for what the transaction asks next
end $$;
comment on function lexichord.gather_candidates(text, jsonb, @extschema:vector@.halfvec, integer, text[], bigint[], text, jsonb, double precision[], jsonb, text) is
'The candidates of all shards as if they were of one database, and how many chunks are in scope, up to the depth. Internal. Readers may call it.';
