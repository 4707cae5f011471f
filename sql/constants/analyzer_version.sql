create or replace function lexichord.analyzer_version() returns smallint
language sql immutable parallel safe
return 3::smallint;
comment on function lexichord.analyzer_version() is
'The number of the analyzer: who changes what lexemes() returns adds one, and reindex makes anew what is stored. Readers may call it.';
