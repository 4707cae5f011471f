create or replace function lexichord.default_k() returns integer
language sql immutable parallel safe
return 10;
comment on function lexichord.default_k() is 'How many results a search gives by default. Readers may call it.';
