-- vectorchord's segments have tables of their terms from here on. Those of before are given up; init makes them anew.
do $$
declare
    segment regclass;
begin
    for segment in
        select c.oid from pg_class c
        where c.relnamespace = 'lexichord_data'::regnamespace and c.relkind = 'r' and c.relname ~ '^keyword_part_[0-9]+$'
    loop
        execute format('drop table %s', segment);
        delete from lexichord_data.keyword_segment;
        insert into lexichord_data.keyword_tail (chunk_id) select k.chunk_id from lexichord_data.keyword k on conflict do nothing;
    end loop;
end $$;

drop function if exists lexichord_data.impacts(tsvector, bigint, double precision), lexichord_data.lexeme_vector(tsvector),
    lexichord_data.impact(bigint, bigint, double precision), lexichord_data.build_dense_index();
