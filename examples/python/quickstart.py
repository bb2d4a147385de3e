# An agent that remembers: python quickstart.py "Remember ..."
# Before: pip install "agekeep[anthropic]", agekeep init, and ANTHROPIC_API_KEY set.
import sys

import anthropic
from agekeep import AgekeepMemory

with AgekeepMemory(actor="quickstart") as memory:
    answer = anthropic.Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5-5", max_tokens=4096, tools=[memory],
        betas=["context-management-2025-06-27"],
        messages=[{"role": "user", "content": sys.argv[1]}],
    ).until_done()
print(answer.content[-1].text)
