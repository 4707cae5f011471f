-- Of the space that the database changes to, too: it is measured before the vectors are swapped.
create or replace function lexichord.set_cosine_scale(
    space text, unlike double precision, alike double precision, sentences integer
) returns void
language sql set search_path = pg_catalog, lexichord_data, pg_temp as $$
    select lexichord.check_space(set_cosine_scale.space)
    where not exists (
        select from reembedding r
        where r.state <> 'dropped' and concat_ws('/', r.provider, r.model, r.dimension) = set_cosine_scale.space);
    insert into cosine_scale as s (space, unlike, alike, sentences, chunks)
    select set_cosine_scale.space, set_cosine_scale.unlike, set_cosine_scale.alike, set_cosine_scale.sentences, n.chunk_count
    from corpus_statistics n
    on conflict on constraint cosine_scale_pkey do update set
        unlike = excluded.unlike, alike = excluded.alike, sentences = excluded.sentences, chunks = excluded.chunks,
        measured_at = now()
$$;
comment on function lexichord.set_cosine_scale(text, double precision, double precision, integer) is
'Stores where cosines of the database''s space lie, or of the one that it changes to, as measured on so many sentences: the mean of unlike ones, and of a sentence with itself.';
