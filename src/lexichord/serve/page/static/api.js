// The operations of the HTTP API at /docs, out of /openapi.json, by Swagger UI.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  dom_id: "#api",
  url: "/openapi.json",
  validatorUrl: null, // else a server elsewhere is told the document's address
  deepLinking: true,
});
