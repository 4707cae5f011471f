create or replace function lexichord.gather_cards(
    query text, depth integer, datasets text[], documents bigint[], uri_prefix text, filter jsonb
) returns table (document_id bigint, rank bigint, score double precision, room bigint)
language plpgsql stable rows 100
set search_path = pg_catalog, lexichord_data, pg_temp
-- Citus plans a statement for its values: it has no generic plan.
set plan_cache_mode = auto as $$
begin
    return query
    select w.* from (
        select u.document_id, row_number() over (order by u.score desc, u.document_id) as rank, u.score, least(depth, l.all_room)::bigint as all_room
        from (select c.*, sum(c.room) over () as all_room
              from (select f.* from shard_node n,
                    lateral lexichord.shard_scope(n.number, gather_cards.datasets, gather_cards.documents, gather_cards.uri_prefix, gather_cards.filter) as s,
                    lateral lexichord.file_candidates(gather_cards.query, gather_cards.depth, s.own_datasets, s.own_documents,
                        gather_cards.uri_prefix, gather_cards.filter) as f) as c) as l,
        unnest(l.document_numbers, l.scores) as u (document_id, score)) as w
    where w.rank <= depth;
    perform set_config('lexichord.keys_are_known', 'off', true);  -- as it was for what the transaction asks next
end $$;
comment on function lexichord.gather_cards(text, integer, text[], bigint[], text, jsonb) is
'card_candidates of a scope on all shards, and how many documents are in it, up to the depth. Internal. Readers may call it.';
