create or replace function lexichord.drop_segment(number integer) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    delete from block_maximum m where m.segment = drop_segment.number;
    delete from keyword_block b where b.segment = drop_segment.number;
    delete from keyword_segment s where s.number = drop_segment.number;
$$;
comment on function lexichord.drop_segment(integer) is 'Deletes a segment of the keyword index. Internal.';
