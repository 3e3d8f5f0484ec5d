hsumma profile 1
# the machine that scripts/hsumma_sim --platform hockney:nodes=N,bw=1GBps,lat=10us simulates
network.alpha_s 1e-05
network.beta_s_per_byte 1e-09
inject_s_per_byte 0
overlap 1
node.alpha_s 1e-06
node.beta_s_per_byte 2.5e-10
end
