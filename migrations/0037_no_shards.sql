-- All documents of a database are in it. One whose documents are in other databases too stays with the release that knows
-- where they are.
do $$
begin
    if exists (select from lexichord_data.shard) then
        raise exception 'the database has shards, which this version of lexichord does not read' using errcode = 'invalid_parameter_value',
            hint = 'By lexichord 1.0.0 run lexichord copy --to DSN, which copies the documents of all shards into one database, and use that.';
    end if;
end $$;
drop view lexichord_data.global_term_statistics, lexichord_data.global_statistics, lexichord_data.own_term_elsewhere, lexichord_data.own_elsewhere;
drop table lexichord_data.shard, lexichord_data.shard_move, lexichord_data.elsewhere, lexichord_data.term_elsewhere,
    lexichord_data.elsewhere_dataset, lexichord_data.term_elsewhere_dataset;
-- What was a shard goes on with its numbers, and is else like any other database: a backup compares them.
alter table lexichord_data.document alter column id set start with 1;
alter table lexichord_data.chunk alter column id set start with 1;
