// A whole life of a vector store by OpenAI's npm client; prints what became of each operation.
import OpenAI, { toFile } from "openai";

const [baseURL, apiKey, model] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const outcomes = {};
const stores = client.vectorStores;
const question = "When is the rent due?";
const text = "# Lease\n\nThe rent of Saltpan House is due on the first day of each quarter.";
const named = (name) => toFile(Buffer.from(text), name);

async function attempt(operation, work) {
  try {
    const result = await work();
    outcomes[operation] = "works";
    return result;
  } catch (error) {
    outcomes[operation] = error.error?.message ?? String(error);
  }
}
async function all(pages) {
  const items = [];
  for await (const item of pages) items.push(item);
  if (!items.length) throw new Error("empty");
  return items;
}
function expect(value, wanted) {
  if (value !== wanted) throw new Error(`${value} is not ${wanted}`);
}

const store = await attempt("vector_stores.create", () => stores.create({ name: "npm" }));
const within = { vector_store_id: store.id };
await attempt("vector_stores.create(expires_after=…)", () =>
  stores.create({ expires_after: { anchor: "last_active_at", days: 7 } }));
await attempt("vector_stores.retrieve", () => stores.retrieve(store.id));
await attempt("vector_stores.list", () => all(stores.list({ limit: 1 })));
await attempt("vector_stores.update", () => stores.update(store.id, { metadata: { team: "legal" } }));
const file = await attempt("files.create", async () =>
  client.files.create({ file: await named("lease.md"), purpose: "assistants" }));
await attempt("files.create(expires_after=…)", async () =>
  client.files.create({ file: await named("x.md"), purpose: "assistants", expires_after: { anchor: "created_at", seconds: 3600 } }));
await attempt("files.wait_for_processing", () => client.files.waitForProcessing(file.id));
await attempt("files.retrieve", () => client.files.retrieve(file.id));
await attempt("files.list", () => all(client.files.list()));
await attempt("files.content", async () => expect(await (await client.files.content(file.id)).text(), text));
await attempt("vector_stores.files.create_and_poll", async () =>
  expect((await stores.files.createAndPoll(store.id, { file_id: file.id, attributes: { year: 2024 } })).status, "completed"));
await attempt("vector_stores.files.create(chunking_strategy=static)", () =>
  stores.files.create(store.id, { file_id: file.id, chunking_strategy: { type: "static", static: { max_chunk_size_tokens: 400, chunk_overlap_tokens: 100 } } }));
const other = await attempt("vector_stores.files.upload_and_poll", async () =>
  stores.files.uploadAndPoll(store.id, await named("other.md")));
await attempt("vector_stores.files.retrieve", () => stores.files.retrieve(file.id, within));
await attempt("vector_stores.files.list", () => all(stores.files.list(store.id, { limit: 1, order: "asc" })));
await attempt("vector_stores.files.update", async () =>
  expect((await stores.files.update(file.id, { ...within, attributes: { year: 2025 } })).attributes.year, 2025));
await attempt("vector_stores.files.content", async () =>
  expect((await all(stores.files.content(file.id, within)))[0].text, text));
await attempt("vector_stores.search", async () => {
  const filters = { type: "eq", key: "year", value: 2025 };
  const found = await all(stores.search(store.id, { query: question, filters, max_num_results: 1 }));
  expect(found.length, 1);
  expect(found[0].file_id, file.id);
});
const batch = await attempt("vector_stores.file_batches.create_and_poll", () =>
  stores.fileBatches.createAndPoll(store.id, { file_ids: [file.id, other.id] }));
await attempt("vector_stores.file_batches.upload_and_poll", async () =>
  expect((await stores.fileBatches.uploadAndPoll(store.id, { files: [await named("a.md")] })).file_counts.completed, 1));
await attempt("vector_stores.file_batches.retrieve", () => stores.fileBatches.retrieve(batch.id, within));
await attempt("vector_stores.file_batches.list_files", () => all(stores.fileBatches.listFiles(batch.id, within)));
await attempt("vector_stores.file_batches.cancel", () => stores.fileBatches.cancel(batch.id, within));
const space = (await attempt("models.list", () => all(client.models.list())))[0].id;
await attempt("models.retrieve", () => client.models.retrieve(space));
await attempt("embeddings.create", async () =>
  expect((await client.embeddings.create({ model: space, input: question })).data[0].embedding.length, 384));
const asked = { model, input: question, tools: [{ type: "file_search", vector_store_ids: [store.id] }] };
await attempt("responses.create, with file_search", async () =>
  expect((await client.responses.create(asked)).status, "completed"));
await attempt("responses.create(stream=True)", async () => {
  const events = await all(await client.responses.create({ ...asked, stream: true }));
  expect(events.at(-1).type, "response.completed");
});
await attempt("responses.create(instructions=…)", () => client.responses.create({ ...asked, instructions: "Be brief." }));
await attempt("vector_stores.files.delete", () => stores.files.delete(other.id, within));
await attempt("files.delete", () => client.files.delete(file.id));
await attempt("vector_stores.delete", () => stores.delete(store.id));
console.log(JSON.stringify(outcomes));
