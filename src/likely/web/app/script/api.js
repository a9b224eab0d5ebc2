// Asking the server. Addresses are relative: the key of the session is in that of the page.

export async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The app has ended, or cannot be reached. Start it again with: likely app");
  }
  const found = await answer.json().catch(() => ({ error: "The answer cannot be read." }));
  if (!answer.ok) throw new Error(found.error || "The request was refused.");
  return found;
}

// Sends a file as it is; `told` gets the share that has gone. Not by fetch, which does not say how far it is.
export function sendFile(file, told) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", `files?name=${encodeURIComponent(file.name)}`);
    request.responseType = "json";
    request.upload.onprogress = (now) => told(now.lengthComputable ? now.loaded / now.total : 0);
    request.onload = () => {
      if (request.status === 201) done(request.response.file);
      else failed(new Error((request.response && request.response.error) || "The file was refused."));
    };
    request.onerror = () => failed(new Error("The file did not arrive. The app may have ended."));
    request.send(file);
  });
}
