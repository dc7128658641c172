"""PyTorch with --memory 4096 --cores 50: training lowers the loss and stays within the memory."""
from common import check, figures

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(4096, 512, device="cuda")
target = torch.sin(x)
losses = []
for _ in range(60):
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.mse_loss(model(x), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
check(losses[-1] < losses[0] / 2, f"loss from {losses[0]} to {losses[-1]}")
free, total = torch.cuda.mem_get_info()
check(total == 4096 << 20 and free > 0, f"memory {free} of {total}")
figures(first_loss=round(losses[0], 4), last_loss=round(losses[-1], 4), peak_mib=torch.cuda.max_memory_reserved() >> 20)
