/** llama.cpp behind OpenAI's chat completions, as small as a test needs it: `server.mjs MODEL NAME PORT`. */
import { createServer } from 'node:http';
import { getLlama, LlamaCompletion } from 'node-llama-cpp';

const [path, name, port] = process.argv.slice(2);
const llama = await getLlama({ build: 'never', gpu: false, logLevel: 'warn' });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({ contextSize: 256, threads: 1 });
const completion = new LlamaCompletion({ contextSequence: context.getSequence() });
/** One after another: there is one sequence. */
let last = Promise.resolve();

const complete = (body) => {
  const { messages, max_tokens: maxTokens = 16 } = JSON.parse(body);
  const prompt = messages
    .map((one) => String(one.content))
    .join('\n')
    .slice(-100);
  const done = last.then(() =>
    completion.generateCompletion(prompt, { maxTokens: Math.min(maxTokens, 64), temperature: 0 }),
  );
  last = done.catch(() => undefined);
  return done;
};

createServer(async (request, response) => {
  if (request.url === '/health') return response.end('ok');
  if (request.url !== '/v1/chat/completions') return response.writeHead(404).end();
  let body = '';
  for await (const part of request) body += part;
  try {
    const content = await complete(body);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        object: 'chat.completion',
        model: name,
        choices: [{ index: 0, finish_reason: 'length', message: { role: 'assistant', content } }],
      }),
    );
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(Number(port), '0.0.0.0', () => console.log('listening'));
