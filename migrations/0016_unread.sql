-- Files that an ingest came across and whose kind cannot be read are on record, too.
alter table lexichord_data.run_file
    drop constraint run_file_status_check,
    add constraint run_file_status_check
        check (status in ('inserted', 'replaced', 'skipped', 'failed', 'deleted', 'unread'));
