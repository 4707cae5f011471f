// Asks a server of the Model Context Protocol with the TypeScript SDK and prints what came back.
// node ask.mjs VERSION URL, or node ask.mjs VERSION COMMAND ARGUMENT...
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [version, target, ...args] = process.argv.slice(2);
const transport = target.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env });
const mode = version === 'legacy' ? 'legacy' : { pin: version };
const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } }
);
const asked = [];
client.setRequestHandler('elicitation/create', async request => {
    asked.push(request.params.message);
    const [dataset] = request.params.requestedSchema.properties.dataset.enum;
    return { action: 'accept', content: { dataset } };
});
await client.connect(transport);
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
const found = await client.callTool({ name: 'search', arguments: { query: 'support logs' } });
const [first] = found.structuredContent.results;
const fetched = await client.callTool({ name: 'fetch', arguments: { id: first.id } });
const wrong = await client.callTool({ name: 'fetch', arguments: { id: 'nothing' } });
const read = await client.readResource({ uri: fetched.structuredContent.metadata.document });
const chosen = await client.callTool({
    name: 'retriever',
    arguments: { query: 'support logs', dataset_id: 'POLIC', top_k: 2 }
});
const filter = { title: 'Data Retention Policy' };
const narrowed = await client.callTool({
    name: 'retriever',
    arguments: { query: 'support logs', top_k: 1, filter }
});
const answered = await client.callTool({
    name: 'assistant',
    arguments: { query: 'How long are support logs kept?', filter }
});
console.log(
    JSON.stringify({
        version: client.getNegotiatedProtocolVersion(),
        tools: tools.map(tool => tool.name),
        resources: resources.map(resource => resource.uri),
        prompts: prompts.map(prompt => prompt.name),
        text: fetched.structuredContent.text,
        whole: read.contents[0].text,
        wrong: { isError: wrong.isError, details: wrong.structuredContent.details },
        asked,
        narrowed: narrowed.structuredContent,
        answered: answered.structuredContent,
        chosen: { isError: chosen.isError ?? false, ...chosen.structuredContent }
    })
);
await client.close();
