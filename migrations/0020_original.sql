-- The bytes that a document was read from, where they were to be kept; most kinds of files are compressed already.
create table lexichord_data.original (
    document_id bigint primary key references lexichord_data.document on delete cascade,
    sha256      text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    content     bytea not null
);
alter table lexichord_data.original alter column content set storage external;
