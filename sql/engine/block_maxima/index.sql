-- Idempotent: the segments of the keyword index, block maxima (Ding and Suel, 2011; Mallia et al., 2024). A segment's chunks
-- stand in the order of their ids, four of them a block, and of each term the largest impact in each block is kept, so
-- that a search adds up what the chunks of a block can score at most, by arithmetic over vectors.
create table if not exists lexichord_data.keyword_block (
    segment   integer,
    number    integer,
    chunk_ids bigint[] not null,
    primary key (segment, number)
);
create table if not exists lexichord_data.block_maximum (
    term_id integer,
    segment integer,
    page    integer,  -- of so many blocks as a vector has dimensions
    maxima  @extschema:vector@.sparsevec not null,
    primary key (term_id, segment, page)
);
-- Segments were impact-ordered postings: their chunks wait for being sealed again.
do $$
begin
    if to_regclass('lexichord_data.posting') is not null then
        update lexichord_data.keyword_segment set superseded = true;
        insert into lexichord_data.keyword_tail (chunk_id) select k.chunk_id from lexichord_data.keyword k on conflict do nothing;
        drop table lexichord_data.posting;
    end if;
end $$;
