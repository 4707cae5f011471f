-- Cormack et al., 2009.
create or replace function lexichord.rrf_constant() returns integer
language sql immutable parallel safe
return 60;
comment on function lexichord.rrf_constant() is 'What Reciprocal Rank Fusion adds to each rank. Readers may call it.';
