-- A table that is not here shows nothing to a tenant. Of a condition, what asks for the caller is in a sub-select: once a
-- statement, not once a row.
create or replace function lexichord.tenant_policies() returns table (table_name name, condition text)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    values ('dataset'::name, 'id = any ((select lexichord_data.own_datasets())::bigint[])'),
           ('document', 'dataset_id = any ((select lexichord_data.own_datasets())::bigint[])
                and (principals is null or principals && (select lexichord_data.own_principals()))'),
           ('chunk', 'exists (select from lexichord_data.document d where d.id = document_id)'),
           ('keyword', 'exists (select from lexichord_data.document d where d.id = document_id)'),
           ('card_term', 'exists (select from lexichord_data.document d where d.id = document_id)'),
           ('original', 'exists (select from lexichord_data.document d where d.id = document_id)'),
           ('dataset_count', 'dataset_id = any ((select lexichord_data.own_datasets())::bigint[])'),
           ('dataset_change', 'dataset_id = any ((select lexichord_data.own_datasets())::bigint[])'),
           ('term_count', 'dataset_id = any ((select lexichord_data.own_datasets())::bigint[])'),
           ('term_change', 'dataset_id = any ((select lexichord_data.own_datasets())::bigint[])'),
           ('term', 'exists (select from lexichord_data.term_count k where k.term_id = id)
                or exists (select from lexichord_data.term_change c where c.term_id = id)'),
           ('run', 'exists (select from lexichord_data.dataset s where s.name = dataset)'),
           ('run_file', 'exists (select from lexichord_data.run r where r.id = run_id)'),
           -- What is the same for all, and tells nothing of anybody's documents.
           ('configuration', 'true'), ('embedding_space', 'true'), ('calibration', 'true'), ('cosine_scale', 'true'), ('migration', 'true'), ('function_release', 'true')
$$;
comment on function lexichord.tenant_policies() is
'What a tenant sees of which table. Internal.';
