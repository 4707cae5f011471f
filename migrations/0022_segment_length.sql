-- vectorchord's segments hold lengths and frequencies of their own from here on. Those of before are given up; init makes
-- them anew.
do $$
declare
    segment regclass;
begin
    for segment in
        select c.oid from pg_class c
        where c.relnamespace = 'lexichord_data'::regnamespace and c.relkind = 'r' and c.relname ~ '^keyword_part_[0-9]+(_term)?$'
    loop
        execute format('drop table %s', segment);
        delete from lexichord_data.keyword_segment;
        insert into lexichord_data.keyword_tail (chunk_id) select k.chunk_id from lexichord_data.keyword k on conflict do nothing;
    end loop;
end $$;
