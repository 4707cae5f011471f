-- One transaction. Chunks stay the rows that they are, with their vectors and keywords; what was counted for one dataset
-- is counted for the other.
create or replace function lexichord.move_documents(documents bigint[], dataset text) returns bigint
language plpgsql set search_path = pg_catalog, lexichord_data, pg_temp set lock_timeout = '30s' as $$
declare
    target bigint;
    moving bigint[];
begin
    perform lexichord_data.join_writers();
    perform from dataset_file x  -- before the documents, as store_document does
    where (x.dataset_id, x.file_id) in (
        select s.id, split_part(substr(d.uri, length(format('upload://%s/', s.name)) + 1), '/', 1)
        from document d join dataset s on s.id = d.dataset_id
        where d.id = any(documents) and starts_with(d.uri, format('upload://%s/', s.name)))
    order by x.dataset_id, x.file_id for update;
    perform from document d where d.id = any(documents) order by d.id for update;  -- as in delete_documents
    target := lexichord.dataset_to_move_to(documents, dataset);
    moving := array(select d.id from document d where d.id = any(documents) and d.dataset_id <> target);
    perform lexichord.check_move(moving, target);
    perform lexichord.move_sent_files(moving, target);

    insert into dataset_change
    select s.dataset_id, sum(s.sign), sum(s.sign * c.token_count), 0, 0
    from chunk c, lateral (values (c.dataset_id, -1), (target, 1)) as s (dataset_id, sign)
    where c.document_id = any(moving) group by 1;
    insert into term_change (term_id, dataset_id, df)
    select t.id, s.dataset_id, sum(s.sign)
    from chunk c, unnest(c.lexemes) as u, lateral (values (c.dataset_id, -1), (target, 1)) as s (dataset_id, sign), term t
    where c.document_id = any(moving) and t.lexeme = u.lexeme collate "C" group by 1, 2;

    perform lexichord.follow_moved(array_agg(s.name order by d.id), array_agg(d.uri order by d.id), move_documents.dataset)
    from document d join dataset s on s.id = d.dataset_id where d.id = any(moving);
    with place as (
        select d.id, lexichord.moved_uri(d.uri, s.name, move_documents.dataset) as new_uri
        from document d join dataset s on s.id = d.dataset_id where d.id = any(moving)
    ), moved as (  -- in one statement with the document: a key of both holds them together
        update chunk c set dataset_id = target from place p where c.document_id = p.id
    )
    update document d set dataset_id = target, uri = p.new_uri, updated_at = now() from place p where d.id = p.id;
    perform lexichord.fold_statistics(from_changes => 32);
    return cardinality(moving);
end $$;
comment on function lexichord.move_documents(bigint[], text) is
'Moves documents with all that hangs on them into a dataset, which is made if it is not there, in one transaction; returns how many were not there already. Nothing is embedded again, and ids stay.';
